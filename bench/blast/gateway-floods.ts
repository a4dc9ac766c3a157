import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Blast } from './blast.ts'
import type { BodyFlood } from './flood-bodies.ts'

const CONNECTIONS = 60
const MIB = 1024 * 1024

/** Bodies that cost a gateway more than their sender, over many connections at once. */
export const gatewayFloods: Readonly<Record<string, Blast>> = {
  'one-byte-chunks': bodies({ part: '1\r\nx\r\n'.repeat(2_000), pauseMs: 20 }),
  'slow-bodies': bodies({ part: '1\r\nx\r\n', pauseMs: 500 }),
  'unfinished-uploads': bodies({ part: chunk(MIB), pauseMs: 20, maxBytes: 18 * MIB }, beginUpload),
  'refused-uploads': bodies({ part: chunk(MIB), pauseMs: 1 }, async (url) => `${url}/none`),
}

type Parts = Pick<BodyFlood, 'part' | 'pauseMs'> & { readonly maxBytes?: number }
type Address = (url: string) => Promise<string>

/** Requests whose bodies never end; from a thread, so that the good callers beside it are not delayed by the sender. */
function bodies(parts: Parts, addressOf: Address = async (url) => `${url}/mcp`): Blast {
  return {
    victim: 'gateway',
    async strike({ url }, signal) {
      const workerData: BodyFlood = {
        maxBytes: Number.POSITIVE_INFINITY,
        ...parts,
        url: await addressOf(url),
        connections: CONNECTIONS,
      }
      let answered = ''
      const worker = new Worker(new URL('flood-bodies.ts', import.meta.url), { workerData })
      worker.on('message', (message) => (answered = String(message)))
      if (!signal.aborted) await once(signal, 'abort')
      await worker.terminate()
      return answered
    },
  }
}

/** The address for files of a new session: those of unknown ones are refused unread. */
async function beginUpload(url: string): Promise<string> {
  const response = await fetch(`${url}/api/chat/session`, { method: 'POST' })
  const { sessionId } = (await response.json()) as { sessionId: string }
  return `${url}/api/chat/session/${sessionId}/file`
}

function chunk(bytes: number): string {
  return `${bytes.toString(16)}\r\n${'x'.repeat(bytes)}\r\n`
}
