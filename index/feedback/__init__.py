"""What people said about answers and passages, tied to what they had been given."""
