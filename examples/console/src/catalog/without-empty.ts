/** The server has defaults for what is left out on creation, and takes no null for it. */
export function withoutEmpty (record: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== null && value !== ''))
}
