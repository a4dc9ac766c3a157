import { BusError } from '@mcp-host/contracts'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { checkFrame, parseFrame } from '../services/gateway/src/socket/read-frame.ts'
import { bytesLike } from './arbitraries.ts'
import { upFrame } from './up-frame.ts'

const NEGATIVE_ZERO =
  '{"type":"answer","payload":{"id":"q","action":"accept","content":{"count":-0}}}'

test('a frame is read or refused with a short reason', () => {
  fc.assert(
    fc.property(bytesLike(upFrame), fc.boolean(), (bytes, isBinary) => {
      try {
        checkFrame(parseFrame(bytes, isBinary))
      } catch (error) {
        expect(error).toBeInstanceOf(BusError)
        const { code, message } = error as BusError
        expect(code).toBe('invalid')
        expect(message.length).toBeLessThan(1_000)
      }
    }),
  )
})

test('a frame that is read and written is read as the same frame again', () => {
  fc.assert(
    fc.property(bytesLike(upFrame), (bytes) => {
      const read = (data: Buffer): unknown => {
        try {
          return checkFrame(parseFrame(data, false))
        } catch {
          // The test above checks refusals.
          return fc.pre(false)
        }
      }
      // Texts are compared, since JSON writes -0 as 0.
      const written = JSON.stringify(read(bytes))
      expect(JSON.stringify(read(Buffer.from(written)))).toBe(written)
    }),
    { examples: [[Buffer.from(NEGATIVE_ZERO)]] },
  )
})
