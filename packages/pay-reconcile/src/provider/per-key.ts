import { createHash } from 'node:crypto'

/** One value for each secret key, found by a hash so that no key is kept. `forget` removes the value. */
export function perKey<Value> (create: (forget: () => void) => Value): (secretKey: string) => Value {
  const values = new Map<string, Value>()
  return (secretKey) => {
    const hash = createHash('sha256').update(secretKey).digest('base64')
    const value = values.get(hash) ?? create(() => values.delete(hash))
    values.set(hash, value)
    return value
  }
}
