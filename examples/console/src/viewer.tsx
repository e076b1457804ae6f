import type { Shop as ShopSchema } from '../../shop/src/shops/shop-schemas.ts'
import { createContext, useContext } from 'react'
import { type Call, readAll } from './api/http.ts'
import { ApiError } from './api/problem.ts'
import type { Session } from './session/session.ts'
import { numberLocale } from './times.ts'

export type Shop = Omit<typeof ShopSchema['static'], 'created_at' | 'updated_at'>

/** The person who signed in, and what they reach. */
export interface Viewer {
  readonly id: string
  readonly subject: string
  readonly name: string
  readonly isAdmin: boolean
  /** The first of them by name; admins may reach more. */
  readonly shops: readonly Shop[]
  readonly session: Session
  readonly call: Call
}

/** Most shops in the switch between them. */
const MOST_SHOPS = 200

interface Me {
  readonly id: string
  readonly subject: string
  readonly name: string | null
  readonly roles: readonly string[]
}

/** @throws {@link ApiError} */
export async function readViewer (session: Session, call: Call): Promise<Viewer> {
  // The first call of a person creates their user.
  const { json: { id, subject, name, roles } } = await call<Me>('/me')
  const { rows } = await readAll<Shop>(call, '/shops', {}, MOST_SHOPS)
  return {
    id,
    subject,
    name: session.name() ?? name ?? subject,
    isAdmin: roles.includes('admin'),
    shops: rows,
    session,
    call
  }
}

/** A shop as its pages need it. */
export interface OpenShop extends Shop {
  /** How money, numbers and times are written on this page. */
  readonly locale: string
  readonly timeZone: string
  /** Whether the viewer may manage keys, members and the payment key, and sees the history of those. */
  readonly isOwner: boolean
}

interface Config {
  readonly currency: string
  readonly locale: string
  readonly time_zone: string
}

/** @returns undefined if there is no such shop, or the viewer is no member */
export async function openShop ({ call, id, isAdmin, shops }: Viewer, slug: string): Promise<OpenShop | undefined> {
  const isOfPath = (shop: Shop): boolean => shop.slug === slug
  // The filter also matches what the slug looks like, such as one without a blank at its end.
  const shop = shops.find(isOfPath) ??
    (await call<Shop[]>(`/shops?filter=${encodeURIComponent(JSON.stringify({ slug }))}`)).json.find(isOfPath)
  if (shop === undefined) return undefined
  try {
    const filter = encodeURIComponent(JSON.stringify({ user_id: id }))
    const [{ json: config }, { json: [member] }] = await Promise.all([
      call<Config>(`/shops/${shop.id}/config`),
      call<Array<{ role: string }>>(`/shops/${shop.id}/members?filter=${filter}`)
    ])
    return {
      ...shop,
      currency: config.currency,
      locale: numberLocale(config.locale),
      timeZone: config.time_zone,
      isOwner: isAdmin || member?.role === 'owner'
    }
  } catch (error) {
    if (error instanceof ApiError && [403, 404].includes(error.status)) return undefined
    throw error
  }
}

export const ViewerContext = createContext<Viewer | undefined>(undefined)
export const ShopContext = createContext<OpenShop | undefined>(undefined)

export function useViewer (): Viewer {
  const viewer = useContext(ViewerContext)
  if (viewer === undefined) throw new Error('There is no viewer here')
  return viewer
}

/** The shop of this page. */
export function useShop (): OpenShop {
  const shop = useContext(ShopContext)
  if (shop === undefined) throw new Error('There is no shop here')
  return shop
}
