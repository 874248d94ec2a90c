"""What Treeline installs from others: licences and known faults. Programs for developers; the service imports none."""
