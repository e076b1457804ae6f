import { newId, seconds, type StandInObject } from './response.ts'

/** An event in the provider's format. */
export interface StandInEvent extends StandInObject {
  readonly object: 'event'
  readonly type: string
  /** Seconds since 1970. */
  readonly created: number
}

/** In seconds. The provider lists events of the last 30 days. */
const RETENTION = 30 * 24 * 3600

/** The event of a change to a customer. @param before - undefined: it was created. */
export function eventOf (before: StandInObject | undefined, customer: StandInObject): StandInEvent {
  const kind = customer.deleted === true ? 'deleted' : before ? 'updated' : 'created'
  const previous = Object.fromEntries(Object.entries(before ?? {}).filter(([name, value]) => JSON.stringify(customer[name]) !== JSON.stringify(value)))
  return {
    id: newId('evt'),
    object: 'event',
    api_version: null,
    created: seconds(),
    // The provider shows a deleted customer as it was.
    data: { object: kind === 'deleted' ? before : customer, ...(kind === 'updated' && { previous_attributes: previous }) },
    livemode: false,
    pending_webhooks: 0,
    request: { id: null, idempotency_key: null },
    type: `customer.${kind}`
  }
}

/** What a list of events shows, oldest first: of this type, such as `customer.updated` or `customer.*`, that have not expired. */
export function listedEvents (events: readonly StandInEvent[], types: readonly string[]): ReadonlyMap<string, StandInEvent> {
  const oldest = seconds() - RETENTION
  const isWanted = ({ type, created }: StandInEvent): boolean => created > oldest &&
    (types.length === 0 || types.some((wanted) => wanted === type || (wanted.endsWith('*') && type.startsWith(wanted.slice(0, -1)))))
  return new Map(events.filter(isWanted).sort((one, other) => one.created - other.created).map((event) => [event.id, event]))
}
