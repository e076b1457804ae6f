import { createContext } from 'react'
import type { UseFormReturn } from 'react-hook-form'
import { changesOf } from '../api/changes.ts'
import type { Versioned } from '../api/save.ts'

type Values = Readonly<Record<string, unknown>>

/** The form of a page, and what of it is being sent. */
export interface Sending {
  form?: UseFormReturn | undefined
  sent?: Values | undefined
  /** The record that somebody saw when they began to type; undefined while nothing is typed. */
  before?: Versioned | undefined
}

export const SendingContext = createContext<Sending>({})

/** How a form takes what is stored: what is typed and not sent stays. */
export const KEEP_TYPED = { keepDirtyValues: true } as const

/** @returns what was typed since the form was sent */
export function typedSince ({ form, sent }: Sending): Values {
  return form === undefined || sent === undefined ? {} : changesOf(sent, form.getValues())
}

/**
 * Shows what is stored now. What was typed since it was sent stays, and is all that is unsaved.
 *
 * @returns whether there is such
 */
export function showStored (sending: Sending, stored: Values): boolean {
  const typed = typedSince(sending)
  for (const name of Object.keys({ ...sending.sent, ...typed })) {
    sending.form?.resetField(name, { defaultValue: stored[name] ?? null })
    if (name in typed) sending.form?.setValue(name, typed[name], { shouldDirty: true })
  }
  return Object.keys(typed).length > 0
}
