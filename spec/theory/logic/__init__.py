"""Logic: formulas that fold (`formulas`), one text read by Z3 and over finite sets (`readings`), theorems and proofs in
steps (`proof`).
"""
