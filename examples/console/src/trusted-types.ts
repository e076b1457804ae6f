interface TrustedTypes {
  createPolicy(name: 'default', rules: { readonly createHTML: (text: string) => string }): unknown
}

/** The only HTML that is written from a string: react-admin's place for a message that is not there. */
const ZERO_WIDTH_SPACE = '&#8203;'

/** Browsers with Trusted Types ask this before a string becomes HTML; the server's policy allows no other. */
export function refuseHtml ({ trustedTypes }: { readonly trustedTypes?: TrustedTypes }): void {
  trustedTypes?.createPolicy('default', {
    createHTML: (text) => {
      if (text !== ZERO_WIDTH_SPACE) throw new TypeError('The console writes no HTML')
      return text
    }
  })
}
