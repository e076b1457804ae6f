import { createHash, timingSafeEqual } from 'node:crypto'
import type { Account } from 'oidc-provider'
import type { DemoUser } from './types.ts'

/** A user's `sub`: the same at every start, so that rows which name it stay right. */
export function subjectOf ({ username }: Pick<DemoUser, 'username'>): string {
  const hex = createHash('sha256').update(username).digest('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-'
  )
}

export function userById (users: readonly DemoUser[], subject: string): DemoUser | undefined {
  return users.find((user) => subjectOf(user) === subject)
}

/** Says nothing about which of the two was wrong, not by time either. */
export function userByPassword (users: readonly DemoUser[], username: string, password: string): DemoUser | undefined {
  const user = users.find((candidate) => candidate.username === username)
  return sameText(password, user?.password ?? '') && user ? user : undefined
}

function sameText (one: string, other: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(one), digest(other))
}

/** What the ID token says about a user. */
export function accountFrom (user: DemoUser | undefined): Account | undefined {
  if (!user) return undefined
  const { username, name = username, email = `${username}@example.com`, groups = [] } = user
  const sub = subjectOf(user)
  return {
    accountId: sub,
    claims: () => ({
      sub,
      token_use: 'id',
      'cognito:username': username,
      ...groups.length > 0 && { 'cognito:groups': groups },
      name,
      email,
      email_verified: true
    })
  }
}
