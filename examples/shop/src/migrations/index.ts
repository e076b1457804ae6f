import { catalog } from './001-catalog.ts'
import { access } from './002-access.ts'
import { accounts } from './003-accounts.ts'
import { shops } from './004-shops.ts'
import { prices } from './005-prices.ts'
import { apiKeys } from './006-api-keys.ts'
import { listOrder } from './007-list-order.ts'
import { accountDetails } from './008-account-details.ts'
import { shopUsage } from './009-shop-usage.ts'
import { audit } from './010-audit.ts'
import { payIds } from './011-pay-ids.ts'
import { apiKeyLife } from './012-api-key-life.ts'
import { payFindings } from './013-pay-findings.ts'
import { paySchedule } from './014-pay-schedule.ts'
import { history } from './015-history.ts'
import { oauthBroker } from './016-oauth-broker.ts'
import { countedLists } from './017-counted-lists.ts'
import { listIndexes } from './017-list-indexes.ts'
import { confirmations } from './018-confirmations.ts'
import { payWebhooks } from './019-pay-webhooks.ts'
import { agentsAtWork } from './020-agents-at-work.ts'
import { imports } from './021-imports.ts'
import { jsonBytes } from './022-json-bytes.ts'
import { uncleanSkus } from './023-unclean-skus.ts'
import { payNotes } from './024-pay-notes.ts'
import { importBytes } from './025-import-bytes.ts'
import { importFound } from './026-import-found.ts'
import { accountVersions } from './027-account-versions.ts'
import { keyCalls } from './028-key-calls.ts'
import { oauthGrants } from './029-oauth-grants.ts'
import { imageUrls } from './030-image-urls.ts'
import { oauthGrantTokens } from './031-oauth-grant-tokens.ts'
import { erasure } from './032-erasure.ts'
import { namesOfPeople } from './033-names-of-people.ts'
import type { Migration } from './migration.ts'

/** Every migration by name, in the order in which they run. A name that was released never changes. */
export const migrations: Readonly<Record<string, Migration>> = {
  '001-catalog': catalog,
  '002-access': access,
  '003-accounts': accounts,
  '004-shops': shops,
  '005-prices': prices,
  '006-api-keys': apiKeys,
  '007-list-order': listOrder,
  '008-account-details': accountDetails,
  '009-shop-usage': shopUsage,
  '010-audit': audit,
  '011-pay-ids': payIds,
  '012-api-key-life': apiKeyLife,
  '013-pay-findings': payFindings,
  '014-pay-schedule': paySchedule,
  '015-history': history,
  '016-oauth-broker': oauthBroker,
  '017-counted-lists': countedLists,
  '017-list-indexes': listIndexes,
  '018-confirmations': confirmations,
  '019-pay-webhooks': payWebhooks,
  '020-agents-at-work': agentsAtWork,
  '021-imports': imports,
  '022-json-bytes': jsonBytes,
  '023-unclean-skus': uncleanSkus,
  '024-pay-notes': payNotes,
  '025-import-bytes': importBytes,
  '026-import-found': importFound,
  '027-account-versions': accountVersions,
  '028-key-calls': keyCalls,
  '029-oauth-grants': oauthGrants,
  '030-image-urls': imageUrls,
  '031-oauth-grant-tokens': oauthGrantTokens,
  '032-erasure': erasure,
  '033-names-of-people': namesOfPeople
}
