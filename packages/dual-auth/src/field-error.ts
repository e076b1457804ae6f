/** The error, about one field of the body: hosts may show it there. */
export function errorOfField<Failure extends Error> (
  field: string,
  error: Failure
): Failure & { readonly field: string } {
  return Object.assign(error, { field })
}
