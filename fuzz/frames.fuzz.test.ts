import { BusError } from '@mcp-host/contracts'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { checkFrame, parseFrame } from '../services/gateway/src/socket/read-frame.ts'
import { bytesLike } from './arbitraries.ts'
import { upFrame } from './up-frame.ts'

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
      const once = read(bytes)
      expect(read(Buffer.from(JSON.stringify(once)))).toEqual(once)
    }),
  )
})
