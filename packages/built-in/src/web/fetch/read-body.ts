import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate, zstdDecompress } from 'node:zlib'

type Decompress = (bytes: Uint8Array, limits: { maxOutputLength: number }) => Promise<Buffer>

const DECOMPRESS = new Map<string, Decompress>([
  ['gzip', promisify(gunzip)],
  ['x-gzip', promisify(gunzip)],
  ['deflate', promisify(inflate)],
  ['br', promisify(brotliDecompress)],
  ['zstd', promisify(zstdDecompress)],
])

/** The body of a response, decompressed where a server compresses although nobody asked for it. */
export async function readBody(response: Response, maxBytes: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(await response.arrayBuffer())
  const coding = (response.headers.get('content-encoding') ?? '').trim().toLowerCase()
  if (bytes.length === 0 || coding === '' || coding === 'identity') return bytes
  const decompress = DECOMPRESS.get(coding)
  if (decompress === undefined) throw new Error(`the body is compressed by ${coding}`)
  try {
    return await decompress(bytes, { maxOutputLength: maxBytes })
  } catch (error) {
    const isLarge = error instanceof RangeError
    throw new Error(isLarge ? 'the answer is too large' : `the body is no valid ${coding}`, {
      cause: error,
    })
  }
}
