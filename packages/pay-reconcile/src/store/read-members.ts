/**
 * Copies an object, and notes which of its members are read.
 *
 * @param path - of the object, for messages
 * @param names - of the members that must be read; default: all that are not undefined
 */
export type Watch = <Watched extends object>(
  object: Watched,
  path: string,
  names?: ReadonlyArray<keyof Watched & string>
) => Watched

/** `unread` has the members that nobody has read yet. */
export function readMembers (): { readonly watch: Watch, readonly unread: ReadonlySet<string> } {
  const unread = new Set<string>()
  return {
    unread,
    watch (object, path, names = Object.keys(object) as Array<keyof typeof object & string>) {
      const copy = { ...object }
      for (const name of names) {
        const value = object[name]
        if (value === undefined) continue
        unread.add(path + name)
        Object.defineProperty(copy, name, {
          enumerable: true,
          configurable: true,
          get () {
            unread.delete(path + name)
            return value
          }
        })
      }
      return copy
    }
  }
}
