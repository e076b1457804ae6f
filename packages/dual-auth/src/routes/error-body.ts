import { Type } from '@sinclair/typebox'

/** Open: the host's error handler may add members or send something else. */
export const ErrorBody = Type.Partial(
  Type.Object({ statusCode: Type.Integer(), code: Type.String(), error: Type.String(), message: Type.String() }, {
    additionalProperties: true
  })
)
