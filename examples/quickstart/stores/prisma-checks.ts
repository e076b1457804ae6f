import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { PrismaLibSql } from '@prisma/adapter-libsql'
import { testStore } from 'dual-auth/testing'
import { PrismaClient } from './generated/client.js'
import { prismaStore } from './prisma-store.js'

const url = `file:${join(mkdtempSync(join(tmpdir(), 'prisma-store-')), 'keys.db')}`
const prisma = new PrismaClient({ adapter: new PrismaLibSql({ url }) })
after(async () => prisma.$disconnect())
// As `prisma migrate` would, which needs an engine that comes from outside the registry.
const text = (columns: string, type: string) => columns.split(' ').map((name) => `${name} ${type}`)
await prisma.$executeRawUnsafe(
  'create table api_keys (id text primary key, prefix text not null unique, fingerprint text not null unique, ' +
    `${
      [
        ...text('owner_id name scopes pepper_id hash created_by networks', 'text not null'),
        ...text('last_used_network revoked_by replaces replaced_by', 'text'),
        'created_at bigint not null',
        ...text('last_used_at expires_at revoked_at unused_notice_at notice_at', 'bigint'),
        'expiry_notice integer'
      ].join(', ')
    })`
)
testStore(test, prismaStore(prisma))
