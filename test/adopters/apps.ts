/** An application that a team has, and what the team changes to take the packages. */
export interface Adopter {
  /** Its folder. `adopted` in it holds the files that the team adds. */
  readonly name: string
  /** What it is made of, as Markdown. */
  readonly kind: string
  readonly signIn: string
  /** What the team installs, beside the packages of this repository. */
  readonly more?: readonly string[]
  /** The packages of this repository that it takes. */
  readonly packages: readonly string[]
  /** The lines that the team changes in its own files. */
  readonly changes: ReadonlyArray<{ readonly file: string, readonly from: string, readonly to: string }>
  /** Whether people get a token when they sign in; default: a cookie. */
  readonly token?: true
  /** The server that it needs: the variable with its address, where it is looked for without that, and what it is. */
  readonly server?: { readonly variable: string, readonly address: string, readonly what: string }
}

const packages = ['mcp-from-routes', 'dual-auth']

export const adopters: readonly Adopter[] = [
  {
    name: 'zod-3',
    kind: 'Zod 3 with its type provider, TypeScript, `bundler` resolution, tsx',
    signIn: 'a token of its own (HS256, @fastify/jwt)',
    packages,
    more: ['zod-to-json-schema@3.25.2'],
    token: true,
    changes: [
      { file: 'app.ts', from: 'import { Note,', to: "import { addAgents } from './agents.ts'\nimport { Note," },
      {
        file: 'app.ts',
        from: '  await request.jwtVerify()',
        to: "  if (request.identity?.kind === 'api-key') request.user = { sub: request.identity.ownerId }\n  else " +
          'await request.jwtVerify()'
      },
      {
        file: 'app.ts',
        from: '  const notes = new NotesOf()',
        to: '  await addAgents(app)\n  const notes = new NotesOf()'
      }
    ]
  },
  {
    name: 'commonjs-passport',
    kind: 'CommonJS, JSON Schema, Jest 29',
    signIn: '@fastify/passport with an encrypted cookie',
    packages,
    changes: [
      {
        file: 'app.js',
        from: 'const { Strategy }',
        to: "const addAgents = require('./agents.js')\nconst { Strategy }"
      },
      {
        file: 'app.js',
        from: '    if (!request.isAuthenticated())',
        to: "    if (request.identity?.kind === 'api-key') request.user = { name: request.identity.ownerId }\n    " +
          'if (!request.isAuthenticated())'
      },
      {
        file: 'app.js',
        from: '  await app.register(async (scope)',
        to: '  await addAgents(app)\n  await app.register(async (scope)'
      }
    ]
  },
  {
    name: 'autoload-mariadb',
    kind: 'TypeBox 1, @fastify/autoload, MariaDB by knex, TypeScript, `nodenext` resolution, tsx',
    signIn: '@fastify/session with a cookie',
    packages,
    server: { variable: 'TEST_MARIADB_URL', address: 'mysql://root@127.0.0.1:3306/mysql', what: 'a MariaDB server' },
    changes: [
      {
        file: 'routes/notes.ts',
        from: '({ session }: FastifyRequest) => session.person',
        to:
          "({ identity, session }: FastifyRequest) => identity?.kind === 'api-key' ? identity.ownerId : session.person"
      }
    ]
  },
  {
    name: 'fastify-5.8.5',
    kind: 'Fastify pinned to 5.8.5, JSON Schema, TypeScript, `node` resolution, tsx',
    signIn: 'an opaque token of its own',
    packages,
    token: true,
    changes: [
      { file: 'app.ts', from: 'import { sessions }', to: "import { addAgents } from './agents'\nimport { sessions }" },
      {
        file: 'app.ts',
        from: '  await app.register(sessions)',
        to: '  await app.register(sessions)\n  await addAgents(app)'
      }
    ]
  },
  {
    name: 'nest',
    kind: 'Nest 11 on its FastifyAdapter, CommonJS from TypeScript, `node16` resolution',
    signIn: 'a guard of Nest, with a token of its own',
    packages,
    token: true,
    changes: [
      {
        file: 'src/app.ts',
        from: 'import { NotesController,',
        to: "import { addAgents } from './agents'\nimport { NotesController,"
      },
      { file: 'src/app.ts', from: '  return app', to: '  await addAgents(app)\n  return app' }
    ]
  },
  {
    name: 'express',
    kind: 'Express 5 inside, by @fastify/express, JSON Schema',
    signIn: 'express-session',
    packages,
    changes: [
      {
        file: 'app.js',
        from: 'import session from',
        to: "import { addAgents } from './agents.js'\nimport session from"
      },
      { file: 'app.js', from: '  const signedIn = ', to: '  await addAgents(app)\n  const signedIn = ' }
    ]
  }
]
