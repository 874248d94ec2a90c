"""Language models of transformers as OpenVINO models with weights of 8 or 4 bits."""
