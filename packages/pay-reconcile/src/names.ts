type Snake<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${Snake<Rest>}`
  : Name

/** A record as responses name its members: `shop_id` for `shopId`. What is in the members stays as it is. */
export function snakeCased<T extends object> (
  record: T
): { [name in keyof T as name extends string ? Snake<name> : never]: T[name] } {
  return Object.fromEntries(
    Object.entries(record).map((
      [name, value]
    ) => [name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), value])
  ) as ReturnType<typeof snakeCased<T>>
}

/** `shopId` for `shop_id`. */
export function camelCased (name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
