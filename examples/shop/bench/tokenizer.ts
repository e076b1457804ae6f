import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'

/** How many tokens of the encoding o200k_base a value has as JSON; 0 for undefined. */
export function tokensIn (value: unknown): number {
  return value === undefined ? 0 : countTokens(JSON.stringify(value))
}
