import { keyPattern } from '../keys/format.ts'

/** A rule for a secret scanner that finds the keys of a marker. */
export type RuleWriter = (marker: string) => string

const pattern: RuleWriter = (marker) => `\\b${keyPattern(marker)}\\b`

/** For each scanner, a file of its configuration. */
export const RULES: Readonly<Record<string, RuleWriter>> = {
  /** The regular expression alone, for GitHub, GitGuardian and others. */
  regex: (marker) => `${pattern(marker)}\n`,
  /** github.com/gitleaks/gitleaks, `--config`: the rule beside those of gitleaks itself. */
  gitleaks: (marker) =>
    `[extend]
useDefault = true

[[rules]]
id = "${marker.replaceAll('_', '-')}-api-key"
description = "API key of ${marker}"
regex = '''${pattern(marker)}'''
keywords = ["${marker}_"]
`,
  /** github.com/trufflesecurity/trufflehog, `--config`: a custom detector. */
  trufflehog: (marker) =>
    `detectors:
  - name: ${marker}_api_key
    keywords:
      - ${marker}_
    regex:
      key: '${pattern(marker)}'
`
}
