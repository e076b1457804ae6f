/** A value of a form: a string, or named values. */
export type FormValue = string | Form
export interface Form { readonly [name: string]: FormValue }

/** Reads `a=1&metadata[b]=2&items[0][c]=3&expand[]=d` as nested objects; list indexes become names. */
export function formFrom (text: string): Form {
  const form: Record<string, FormValue> = Object.create(null)
  for (const [path, value] of new URLSearchParams(text)) {
    const [first = '', ...inner] = path.split('[')
    const names = [first, ...inner.map((name) => name.replace(/\]$/, ''))]
    if (first === '') continue
    let target: Record<string, FormValue> = form
    names.forEach((given, index) => {
      const name = given === '' ? String(Object.keys(target).length) : given
      if (index === names.length - 1) {
        target[name] = value
        return
      }
      const known = target[name]
      const next: Record<string, FormValue> = typeof known === 'object' ? known as Record<string, FormValue> : Object.create(null)
      target[name] = next
      target = next
    })
  }
  return form
}

/** The strings of these parameters; null for those that were not sent. */
export function stringsOrNull (form: Form, names: readonly string[]): Readonly<Record<string, string | null>> {
  return Object.fromEntries(names.map((name) => [name, stringIn(form, name) ?? null]))
}

export function stringIn (form: Form, name: string): string | undefined {
  const value = form[name]
  return typeof value === 'string' ? value : undefined
}

/** The strings under a name: `{ a: '1' }` from `metadata[a]=1`. */
export function stringsIn (form: Form, name: string): Readonly<Record<string, string>> {
  const value = form[name]
  if (typeof value !== 'object') return {}
  return Object.fromEntries(Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'))
}
