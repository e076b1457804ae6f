import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { runProgram } from '../../program.ts'
import { asked, round, told, YES } from './rounds.ts'

const page = readFileSync(fileURLToPath(new URL('../../../docs/confirm.md', import.meta.url)), 'utf8')

t.test('the program of the page asks what the page says, and deletes with a yes', async (t) => {
  const url = (await runProgram(t, 'confirm')).replace('Notes at ', '')
  const call = { args: { id: '1' } }
  const first = await round(url, 'delete_note', call)
  t.ok(page.includes(`\n> ${asked(first) ?? ''}\n`))
  for (
    const [action, answer] of [
      ['decline', 'delete_note was not run: the person said no. Do not call it again unless they ask for it.'],
      [
        'cancel',
        'delete_note was not run: the person closed the question without an answer. Ask what they want before ' +
        'you call it again.'
      ]
    ] as const
  ) t.equal(told(await round(url, 'delete_note', { ...call, state: first.requestState, answer: { action } })), answer)
  t.match(told(await round(url, 'delete_note', { ...call, state: first.requestState, answer: YES })), /^204/)
  t.match(told(await round(url, 'delete_note', call)), /^404 Not Found: No note 1/)
})
