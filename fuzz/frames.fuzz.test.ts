import { BusError } from '@mcp-host/contracts'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { readFrame } from '../services/gateway/src/socket/read-frame.ts'
import { bytesLike } from './arbitraries.ts'
import { upFrame } from './up-frame.ts'

test('a frame is read or refused with a short reason, whatever it is', () => {
  fc.assert(
    fc.property(bytesLike(upFrame), fc.boolean(), (bytes, isBinary) => {
      try {
        readFrame(bytes, isBinary)
      } catch (error) {
        expect(error).toBeInstanceOf(BusError)
        const { code, message } = error as BusError
        expect(code).toBe('invalid')
        expect(message.length).toBeLessThan(1_000)
      }
    }),
  )
})

test('a frame that was read and written is read as the same again', () => {
  fc.assert(
    fc.property(bytesLike(upFrame), (bytes) => {
      const read = (data: Buffer): unknown => {
        try {
          return readFrame(data, false)
        } catch {
          // Refused: the test above looks at how.
          return fc.pre(false)
        }
      }
      const once = read(bytes)
      expect(readFrame(Buffer.from(JSON.stringify(once)), false)).toEqual(once)
    }),
  )
})
