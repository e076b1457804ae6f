import { createParamDecorator, type ExecutionContext } from '@nestjs/common'

/** A request, with whoever has signed in. */
export interface Signed {
  readonly headers: { readonly authorization?: string }
  person?: string
}

export const Person = createParamDecorator((_data: unknown, context: ExecutionContext) =>
  context.switchToHttp().getRequest<Signed>().person
)
