import { access } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyReply } from 'fastify'

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "media-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  // The sandbox of MCP apps.
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const PAGE_HEADERS = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cache-control': 'no-cache',
}

const YEAR_SECONDS = 365 * 24 * 60 * 60
/** The names have a hash of their content. */
const ASSET_HEADERS = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'cache-control': `public, max-age=${YEAR_SECONDS}, immutable`,
}

/** A file name of the build. */
const ASSET = /^[\w.-]+$/

/** The built web UI. Its folder may appear while the gateway runs, because both start at the same time. */
export interface WebUi {
  /** Whether the UI is built. */
  isThere(): Promise<boolean>
  /** Answers with the page. */
  send(reply: FastifyReply): FastifyReply
}

/** Serves the files of the web UI below `/assets/`. `folder`: the built files; without one there is no UI. */
export async function addWebUi(
  app: FastifyInstance,
  folder: string | undefined,
): Promise<WebUi | undefined> {
  if (folder === undefined) return undefined
  await app.register(fastifyStatic, {
    root: resolve(folder),
    serve: false,
    preCompressed: true,
    cacheControl: false,
    setHeaders(reply, path) {
      const headers = /\.html(\.br|\.gz)?$/.test(path) ? PAGE_HEADERS : ASSET_HEADERS
      for (const [name, value] of Object.entries(headers)) reply.header(name, value)
    },
  })
  app.get<{ Params: { file: string } }>('/assets/:file', ({ params: { file } }, reply) =>
    ASSET.test(file) ? reply.sendFile(`assets/${file}`) : reply.callNotFound(),
  )
  return {
    isThere: () =>
      access(join(folder, 'index.html')).then(
        () => true,
        () => false,
      ),
    send: (reply) => reply.sendFile('index.html'),
  }
}
