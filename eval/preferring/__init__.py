"""Which of several runs does a judge prefer?"""
