import 'reflect-metadata'
import { Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify'
import { NotesController, SessionController, Sessions, SignedIn } from './notes'

@Module({ controllers: [SessionController, NotesController], providers: [Sessions, SignedIn] })
class AppModule {}

export async function build (): Promise<NestFastifyApplication> {
  const app = await NestFactory.create<NestFastifyApplication>(AppModule, new FastifyAdapter(), { logger: ['error'] })
  return app
}
