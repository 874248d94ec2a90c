"""Fine-tuning of a language model by LoRA on answers to one's own documents."""
