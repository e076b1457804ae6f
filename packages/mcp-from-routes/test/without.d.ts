/** The rooms that one builds on. */
export const NEEDS: Readonly<Record<string, readonly string[]>>
