import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'

/** Smaller payloads are not worth the time of a compression. */
const MIN_COMPRESSED_BYTES = 2_048
/** The first bytes of a zstd frame. JSON never begins with them. */
const MAGIC = Buffer.from([0x28, 0xb5, 0x2f, 0xfd])
/** Limit for the decompressed size of one message, far above what a writer appends at once. */
const MAX_BYTES = 16 * 1024 * 1024
const OPTIONS = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }

/** Packs entries into the payload of a message: lines, compressed to about a fifth when there are many. */
export function packLines(entries: readonly string[]): Buffer {
  const lines = Buffer.from(entries.join('\n'))
  return lines.length < MIN_COMPRESSED_BYTES ? lines : zstdCompressSync(lines, OPTIONS)
}

/** The entries of a payload. A damaged payload gives a single entry that is not JSON. */
export function unpackLines(payload: Uint8Array): string[] {
  const data = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength)
  const isCompressed = data.subarray(0, MAGIC.length).equals(MAGIC)
  if (!isCompressed) return data.toString().split('\n')
  try {
    return zstdDecompressSync(data, { maxOutputLength: MAX_BYTES }).toString().split('\n')
  } catch {
    return [data.toString('hex')]
  }
}
