/** What dual-auth calls its options in messages, and the settings that they come from. */
export const SETTING_OF: ReadonlyArray<readonly [option: RegExp, setting: string]> = [
  [/\bjwt\.introspection\b/g, 'IDP_INTROSPECTION_ENDPOINT'],
  [/\bjwt\.issuer\b/g, 'IDP_ISSUER'],
  [/\bjwt\.audience\b/g, 'IDP_AUDIENCE'],
  [/(?<=\bset )issuer(?= to\b)/g, 'IDP_ISSUER'],
  [/(?<=\b(?:to|in) )audience\b/g, 'IDP_AUDIENCE'],
  [/\blet jwt list both\b/g, 'set it as IDP_SECOND_ISSUER'],
  [/(?<=\bto )algorithms\b/g, 'IDP_ALGORITHMS'],
  [/(?<=\bone of )tenants(?=:)/g, 'IDP_TENANTS'],
  [/(?<=\bset )introspection(?=,)/g, 'IDP_INTROSPECTION_CLIENT_ID'],
  [/(?<=\bset )provider\b/g, 'IDP_PROVIDER'],
  [/\bsessionTokens\b/g, 'IDP_SESSION_TOKENS'],
  [/\buserClients\b/g, 'IDP_USER_CLIENT_IDS'],
  [/\bmachineClients\b/g, 'IDP_M2M_CLIENT_IDS'],
  [/\bclaims\.client\b/g, 'IDP_CLIENT_CLAIM'],
  [/\bclaims\.subject\b/g, 'IDP_SUBJECT_CLAIM'],
  [/\bclaims\.username\b/g, 'IDP_USERNAME_CLAIM']
]

/**
 * A message of dual-auth with the names of the shop's settings instead of the package's options, which an operator does
 * not have.
 *
 * @param second - the value of `IDP_SECOND_ISSUER`
 */
export function inSettings (message: string, second?: string): string {
  const own = second === undefined || !message.includes(`jwt.issuer is ${second},`)
    ? message
    : message.replaceAll('jwt.issuer', 'IDP_SECOND_ISSUER')
  return SETTING_OF.reduce((text, [option, setting]) => text.replace(option, setting), own)
}
