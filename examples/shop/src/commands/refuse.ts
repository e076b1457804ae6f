import { remedyForPooler } from '../database/pooler.ts'

/** Prints why the program cannot start, and exits. */
export function refuse (error: unknown): never {
  process.stderr.write(`${reasonOf(error)}\n`)
  process.exit(1)
}

/** The message for an error that ends a program. */
export function reasonOf (error: unknown): string {
  const { code, message, stack = String(error) } = error as { code?: string, message: string, stack?: string }
  // An error with a code is about settings, data or the environment, such as a port in use, and needs no stack.
  // Node has no message for a host that responds on none of its addresses.
  if (code === undefined) return stack
  return [message || `Cannot connect: ${code}`, remedyForPooler({ message })].filter(Boolean).join('. ')
}
