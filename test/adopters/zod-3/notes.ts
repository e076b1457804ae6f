import { z } from 'zod'

export const NewNote = z.object({
  text: z.string().trim().min(1).max(500),
  due: z.string().date().nullish(),
  priority: z.enum(['low', 'high']).default('low')
})
export const Note = NewNote.extend({ id: z.number().int() })

type Stored = z.infer<typeof Note>

export class NotesOf {
  readonly #notes = new Map<string, Stored[]>()

  list (person: string): readonly Stored[] {
    return this.#notes.get(person) ?? []
  }

  add (person: string, note: z.infer<typeof NewNote>): Stored {
    const all = this.list(person)
    const added = { ...note, id: all.length + 1 }
    this.#notes.set(person, [...all, added])
    return added
  }
}
