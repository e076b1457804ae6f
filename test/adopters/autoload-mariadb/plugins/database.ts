import fp from 'fastify-plugin'
import knexFrom, { type Knex } from 'knex'

declare module 'fastify' {
  interface FastifyInstance {
    knex: Knex
  }
}

/** A database of its own on MariaDB, which goes when the application closes. */
export default fp(async (app) => {
  const connection = process.env.TEST_MARIADB_URL ?? 'mysql://root@127.0.0.1:3306/mysql'
  const database = `adopters_${process.pid}`
  const admin = knexFrom({ client: 'mysql2', connection })
  await admin.raw('create database ??', [database])
  const url = new URL(connection)
  url.pathname = `/${database}`
  const knex = knexFrom({ client: 'mysql2', connection: url.href })
  await knex.schema.createTable('notes', (table) => {
    table.increments('id')
    table.string('person').notNullable().index()
    table.string('text', 500).notNullable()
    table.timestamp('created_at').notNullable().defaultTo(knex.fn.now())
  })
  app.decorate('knex', knex)
  app.addHook('onClose', async () => {
    await knex.destroy()
    await admin.raw('drop database ??', [database])
    await admin.destroy()
  })
}, { name: 'database' })
