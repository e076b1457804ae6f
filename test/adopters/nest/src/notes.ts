import {
  BadRequestException,
  Body,
  CanActivate,
  Controller,
  ExecutionContext,
  Get,
  Injectable,
  Post,
  UnauthorizedException,
  UseGuards
} from '@nestjs/common'
import { RouteSchema } from '@nestjs/platform-fastify'
import { randomBytes } from 'node:crypto'
import { Person, type Signed } from './person'

export interface Note {
  id: number
  text: string
}

const NoteSchema = {
  type: 'object',
  required: ['id', 'text'],
  properties: { id: { type: 'integer' }, text: { type: 'string' } }
}
// For the API description, too, which gives operations these names.
const LIST = {
  operationId: 'list_notes',
  description: 'List your notes.',
  tags: ['notes'],
  response: { 200: { type: 'array', items: NoteSchema } }
}
const CREATE = {
  operationId: 'create_note',
  description: 'Write a note.',
  tags: ['notes'],
  body: { type: 'object', required: ['text'], properties: { text: { type: 'string' } } },
  response: { 201: NoteSchema }
}
const passwords: Readonly<Record<string, string>> = { ada: 'enchantress', kim: 'fjord' }

@Injectable()
export class Sessions {
  readonly #people = new Map<string, string>()

  open (name: string, password: string): string {
    if (passwords[name] !== password) throw new UnauthorizedException('Wrong name or password')
    const token = randomBytes(16).toString('hex')
    this.#people.set(token, name)
    return token
  }

  personOf ({ headers: { authorization = '' } }: Pick<Signed, 'headers'>): string | undefined {
    return this.#people.get(authorization.replace('Bearer ', ''))
  }
}

@Injectable()
export class SignedIn implements CanActivate {
  constructor (private readonly sessions: Sessions) {}

  canActivate (context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<Signed>()
    request.person ??= this.sessions.personOf(request)
    if (request.person === undefined) throw new UnauthorizedException('Sign in first')
    return true
  }
}

@Controller('session')
export class SessionController {
  constructor (private readonly sessions: Sessions) {}

  @Post()
  open (@Body() { name, password }: { name: string, password: string }) {
    return { token: this.sessions.open(name, password) }
  }
}

@Controller('notes')
@UseGuards(SignedIn)
export class NotesController {
  readonly #notes = new Map<string, Note[]>()

  @Get()
  @RouteSchema(LIST)
  list (@Person() person: string) {
    return this.#notes.get(person) ?? []
  }

  @Post()
  @RouteSchema(CREATE)
  create (@Person() person: string, @Body() { text }: { text: string }) {
    if (text === '') throw new BadRequestException('A note needs a text')
    const mine = this.#notes.get(person) ?? []
    const note = { id: mine.length + 1, text }
    this.#notes.set(person, [...mine, note])
    return note
  }
}
