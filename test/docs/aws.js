/*
 * Stands for the AWS CLI, which the tests cannot expect to be installed: refuses what the CLI would refuse before it
 * sends anything, and answers nothing but the id of a new client and access tokens, which it gets by signing in at the
 * identity provider of the settings.
 * Parameters: https://docs.aws.amazon.com/cognito-user-identity-pools/latest/APIReference/API_CreateUserPoolClient.html
 */
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'

const text = { type: 'string' }
const ids = { 'user-pool-id': text, 'client-id': text }
const operations = {
  'create-user-pool-client': { 'cli-input-json': text, query: text, output: text },
  'create-managed-login-branding': { ...ids, 'use-cognito-provided-values': { type: 'boolean' } },
  'delete-user-pool-client': ids,
  'initiate-auth': { 'client-id': text, 'auth-flow': text, 'auth-parameters': text, query: text, output: text }
}
const parameters = {
  UserPoolId: 'string',
  ClientName: 'string',
  GenerateSecret: 'boolean',
  RefreshTokenValidity: 'number',
  AccessTokenValidity: 'number',
  IdTokenValidity: 'number',
  TokenValidityUnits: 'object',
  ExplicitAuthFlows: [
    'ALLOW_ADMIN_USER_PASSWORD_AUTH',
    'ALLOW_CUSTOM_AUTH',
    'ALLOW_USER_PASSWORD_AUTH',
    'ALLOW_USER_SRP_AUTH',
    'ALLOW_REFRESH_TOKEN_AUTH',
    'ALLOW_USER_AUTH'
  ],
  SupportedIdentityProviders: 'object',
  CallbackURLs: 'object',
  LogoutURLs: 'object',
  AllowedOAuthFlows: ['code', 'implicit', 'client_credentials'],
  AllowedOAuthScopes: 'object',
  AllowedOAuthFlowsUserPoolClient: 'boolean',
  PreventUserExistenceErrors: 'string',
  EnableTokenRevocation: 'boolean',
  AuthSessionValidity: 'number'
}

const [service, operation, ...args] = process.argv.slice(2)
const options = operations[operation]
if (service !== 'cognito-idp' || options === undefined) throw new Error(`no such operation: ${service} ${operation}`)
const { values } = parseArgs({ args, options })
if ('user-pool-id' in options && 'client-id' in options && !(values['user-pool-id'] && values['client-id'])) {
  throw new Error('the pool or the client is missing')
}
if (operation === 'create-user-pool-client') {
  const input = JSON.parse(readFileSync(values['cli-input-json'].replace('file:///dev/stdin', '/dev/stdin'), 'utf8'))
  if (!input.UserPoolId || !input.ClientName) throw new Error('UserPoolId or ClientName is missing')
  for (const [name, value] of Object.entries(input)) {
    const [type, wanted] = [typeof value, parameters[name]]
    const good = Array.isArray(wanted) ? value.every((one) => wanted.includes(one)) : type === wanted
    if (!good) throw new Error(`${name}: ${JSON.stringify(value)}`)
  }
  console.log('1example23456789')
}
if (operation === 'initiate-auth') {
  if (values['auth-flow'] !== 'USER_PASSWORD_AUTH' || values.query !== 'AuthenticationResult.AccessToken') {
    throw new Error(`${values['auth-flow']} ${values.query}`)
  }
  const [, username, password] = /^USERNAME=([^,]+),PASSWORD=(.+)$/.exec(values['auth-parameters'])
  const { accessTokenFor } = await import('identity-provider/browser')
  const { IDP_ISSUER: issuer, PUBLIC_BASE_URL: resource } = process.env
  console.log(await accessTokenFor({ issuer, clientId: values['client-id'], resource, username, password }))
}
