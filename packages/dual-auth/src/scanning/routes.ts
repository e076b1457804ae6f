import { createHash } from 'node:crypto'
import { Type, type Static } from '@sinclair/typebox'
import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import { headersFromOutage } from '../challenge.ts'
import { DUAL_AUTH_REPORT_REFUSED } from '../errors.ts'
import type { Core } from '../core.ts'
import { fingerprint, keyMatcher } from '../keys/format.ts'
import { readable } from '../keys/found.ts'
import type { ApiKeyRecord } from '../keys/store.ts'
import { compileOwnSchemas } from '../routes/compilers.ts'
import { ErrorBody } from '../routes/error-body.ts'
import type { ScanningSettings } from './options.ts'
import { demandSigned, matchesFromBody, signatureFromHeaders, type Match } from './report.ts'
import { createScannerKeys } from './scanner-keys.ts'

/** `revoked_by` of a key that a report revoked. */
const REVOKED_BY = 'github-secret-scanning'

/** In bytes: room for `maxTokens` matches with long addresses. */
const BODY_LIMIT = 1024 * 1024

export interface ScanningParts {
  readonly core: Core
  readonly settings: ScanningSettings
}

const Feedback = Type.Object({
  token_hash: Type.String({ description: 'SHA-256 of the token, in hexadecimal' }),
  token_type: Type.String(),
  label: Type.String({ enum: ['true_positive', 'false_positive'] })
})

const schema = {
  operationId: 'report_leaked_api_keys',
  summary: 'Report leaked API keys',
  description: 'For GitHub: revokes API keys that were found in public. The signature of the report is checked.',
  tags: ['api-keys'],
  response: {
    200: Type.Array(Feedback),
    400: ErrorBody,
    403: ErrorBody,
    413: ErrorBody,
    500: ErrorBody,
    503: ErrorBody
  }
}

/**
 * The endpoint that GitHub reports leaked keys to. It revokes them and says which ones were real. A report may come
 * twice, or from somebody who recorded it: a reporter has the key, so revoking it is right in any case.
 */
export const scanningRoutes: FastifyPluginAsync<ScanningParts> = async (
  app,
  { core: { apiKeys, callStore, emit }, settings }
) => {
  const { store, marker, peppers } = apiKeys
  const isWellFormed = keyMatcher(marker)
  const keys = createScannerKeys(settings, app.log)
  compileOwnSchemas(app)
  // The signature is over the bytes.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => {
    done(null, body)
  })

  app.post<{ Body: Buffer | undefined }>(settings.path, {
    schema,
    config: { auth: 'public' },
    bodyLimit: BODY_LIMIT,
    // Before the body is read.
    onRequest: async (request, reply) => {
      await refusing(reply, async () => {
        await keys.find(signatureFromHeaders(request.headers).keyId)
      })
    }
  }, async (request, reply) =>
    refusing(reply, async () => {
      const signature = signatureFromHeaders(request.headers)
      const body = request.body ?? Buffer.alloc(0)
      demandSigned(body, signature, await keys.find(signature.keyId))
      const matches = matchesFromBody(body, marker, settings.maxTokens)
      const real = await revokeAll(matches)
      return matches.map(({ token, type }): Static<typeof Feedback> => ({
        token_hash: createHash('sha256').update(token).digest('hex'),
        token_type: type,
        label: real.has(token) ? 'true_positive' : 'false_positive'
      }))

      /**
       * Revokes all that are keys, and returns these. A key that cannot be revoked now does not keep others from it.
       */
      async function revokeAll (matches: readonly Match[]): Promise<ReadonlySet<string>> {
        const real = new Set<string>()
        const seen = new Set<string>()
        const failures: unknown[] = []
        for (const match of matches) {
          if (seen.has(match.token) || !isWellFormed(match.token)) continue
          seen.add(match.token)
          await revoke(match).then((isReal) => isReal && real.add(match.token), (error) => failures.push(error))
        }
        if (failures.length > 0) throw failures[0]
        return real
      }

      async function revoke ({ token, leak }: Match): Promise<boolean> {
        const row = await callStore(async () =>
          readable(await store.find(peppers.map((pepper) => fingerprint(token, pepper))))
        )
        if (row === null) return false
        if (row.revokedAt !== null) return true
        let revoked: ApiKeyRecord | undefined
        // Also if the store answers after its deadline: the next report finds the key revoked, and tells nobody.
        const tell = async (): Promise<void> => {
          if (revoked === undefined) return
          emit({ type: 'revoked', key: revoked, by: REVOKED_BY })
          request.log.warn({ keyId: row.id, ...leak }, 'an API key was found in public, and was revoked')
        }
        await callStore(() =>
          store.revoke(row.ownerId, row.id, REVOKED_BY, new Date(), async (key, transaction) => {
            await settings.onKeyChange({ action: 'revoke', key, leak }, request, transaction)
            revoked = key
          }), tell)
        await tell()
        return true
      }
    }))

  /** Sets the headers of a refusal; why a report was refused is logged and not sent. */
  async function refusing<T> (reply: FastifyReply, work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      if (error instanceof DUAL_AUTH_REPORT_REFUSED) {
        reply.log.info({ reason: error.cause }, 'report of leaked keys refused')
      }
      reply.headers(headersFromOutage(error))
      throw error
    }
  }
}
