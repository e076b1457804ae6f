import { InMemoryWebStorage, type User, UserManager, WebStorageStateStore } from 'oidc-client-ts'
import type { Settings } from '../settings.ts'

/** Seconds before its end from which a token counts as expired, so that it does not end on its way. */
const MARGIN = 15

/** The sign-in of a person. Its tokens live in memory only: a reload gets new ones from the identity provider. */
export interface Session {
  /** Name from the ID token; undefined before the sign-in. */
  name(): string | undefined
  isSignedIn(): boolean
  /** Leaves for the identity provider, and comes back to the same place. */
  signIn(): Promise<void>
  /** Whether they signed out in this window, and nobody has signed in since. */
  wasSignedOut(): boolean
  /** Whether this page is the second window of {@link signInAgain}. */
  isSecondWindow(): boolean
  /** Tells the first window, and closes this one. */
  completeSecondWindow(): Promise<void>
  /** Ends the return from the identity provider; gives the path to go on at. */
  complete(): Promise<string>
  /**
   * A token that works: the present one, a renewed one, or that of a new sign-in in a second window.
   *
   * @param refused - a token that the server refused
   * @param isWanted - whether a person waits for it: once they chose not to sign in again, nothing else asks
   * @throws {@link SessionEnded} if nobody signed in again
   */
  token(refused: string | undefined, isWanted: boolean): Promise<string>
  /**
   * Called when the session has ended and cannot be renewed: shows how to sign in again, and settles when that is done.
   */
  onEnded(ask: () => Promise<void>): void
  /**
   * Signs in again in a second window, so that nothing on this page is lost.
   *
   * @returns whether it is the same person: what is on the page belongs to the one before
   */
  signInAgain(): Promise<boolean>
  /** Forgets the tokens, and revokes them where the provider can. */
  signOut(): Promise<void>
}

/** The session has ended and was not renewed. */
export class SessionEnded extends Error {}

/** True until the next sign-in: the provider still knows the person, and another one may want to sign in. */
const SIGNED_OUT = 'shop-console.signed-out'

export function openSession (
  { sign_in: { issuer, client_id: clientId, scope, callback, parameters } }: Settings
): Session {
  const manager = new UserManager({
    authority: issuer,
    client_id: clientId,
    scope,
    redirect_uri: callback,
    popup_redirect_uri: callback,
    // What makes its tokens be for this server: for most, a resource (RFC 8707).
    extraQueryParams: parameters,
    extraTokenParams: parameters,
    userStore: new WebStorageStateStore({ store: new InMemoryWebStorage() }),
    // The state of a sign-in under way, which has no tokens.
    stateStore: new WebStorageStateStore({ store: sessionStorage }),
    automaticSilentRenew: false,
    revokeTokensOnSignout: true,
    monitorSession: false
  })

  let user: User | undefined
  let renewal: Promise<void> | undefined
  /** Why calls fail since the person chose not to sign in again. */
  let declined: Error | undefined
  let ask: () => Promise<void> = async () => {
    throw new SessionEnded()
  }

  manager.events.addUserLoaded((loaded) => {
    user = loaded
  })
  // Renewed before its end, so that calls do not wait for it.
  manager.events.addAccessTokenExpiring(() => {
    if (user?.refresh_token !== undefined) renew(false).catch(() => {})
  })

  async function renew (isWanted: boolean): Promise<void> {
    if (declined !== undefined && !isWanted) throw declined
    renewal ??= (async () => {
      try {
        if (user?.refresh_token === undefined) throw new SessionEnded()
        await manager.signinSilent()
      } catch (error) {
        if (isConnectionLost(error)) throw error
        declined = undefined
        await ask().catch((error: Error) => {
          throw declined = error
        })
      }
    })().finally(() => {
      renewal = undefined
    })
    await renewal
  }

  const asking = () => sessionStorage.getItem(SIGNED_OUT) === null ? {} : { prompt: 'login' }

  return {
    name: () => user?.profile.name ?? user?.profile.preferred_username ?? user?.profile.email,
    isSignedIn: () => user !== undefined,
    async signIn () {
      await manager.signinRedirect({ state: location.pathname + location.search, ...asking() })
    },
    wasSignedOut: () => sessionStorage.getItem(SIGNED_OUT) !== null,
    // The state of its sign-in is in the first window alone.
    isSecondWindow: () =>
      window.opener !== null &&
      sessionStorage.getItem(`oidc.${new URLSearchParams(location.search).get('state')}`) === null,
    completeSecondWindow: async () => await manager.signinPopupCallback(),
    async complete () {
      user = await manager.signinRedirectCallback()
      sessionStorage.removeItem(SIGNED_OUT)
      return String(user.state)
    },
    async token (refused, isWanted) {
      if (user === undefined || user.access_token === refused || (user.expires_in ?? 0) < MARGIN) await renew(isWanted)
      if (user === undefined) throw new SessionEnded()
      return user.access_token
    },
    onEnded (listener) {
      ask = listener
    },
    async signInAgain () {
      const before = user?.profile.sub
      user = await manager.signinPopup({ popupWindowFeatures: { width: 480, height: 640 } })
      declined = undefined
      return before === user.profile.sub
    },
    async signOut () {
      sessionStorage.setItem(SIGNED_OUT, 'yes')
      // A provider that cannot be reached must not keep anybody signed in here.
      await manager.revokeTokens(['refresh_token']).catch(() => {})
      await manager.removeUser()
      user = undefined
      if (await manager.metadataService.getEndSessionEndpoint().catch(() => undefined) === undefined) {
        location.assign('/console')
      } else await manager.signoutRedirect({ post_logout_redirect_uri: `${origin}/console` })
    }
  }
}

/** What `fetch` throws when there is no connection. */
export function isConnectionLost (error: unknown): boolean {
  return error instanceof TypeError
}
