import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runCommand } from './run-command.mjs'

const version = 'v2.12.15'

// As pinned in the build files of the official container image.
const archives = {
  'linux-x64': {
    platform: 'linux-amd64',
    sha256: '58ab8131f819263897e2fc38e503e1b755b63bcafeecc7d12582487df48ca15e',
  },
  'linux-arm64': {
    platform: 'linux-arm64',
    sha256: 'b724db99fefbf8f5c808baa82819ee50350aee9734017e4a478f7e545cef3ab6',
  },
}

// Short, so that a machine without a way to the outside soon tries the next source.
const answerWithinMs = 5_000
const finishWithinMs = 180_000

export const officialRelease = {
  name: `the official release ${version}`,

  /** Downloads and unpacks the archive into `folder`; answers with the program's path. */
  async fetch(folder) {
    const archive = archives[`${process.platform}-${process.arch}`]
    if (!archive) throw new Error(`no known archive for ${process.platform}-${process.arch}`)

    const name = `nats-server-${version}-${archive.platform}`
    const url = `https://github.com/nats-io/nats-server/releases/download/${version}/${name}.tar.gz`
    const content = await download(url)
    const sha256 = createHash('sha256').update(content).digest('hex')
    if (sha256 !== archive.sha256) throw new Error(`${url} has an unexpected checksum ${sha256}`)

    const file = join(folder, 'archive.tar.gz')
    writeFileSync(file, content)
    await runCommand('tar', ['-xzf', file, '-C', folder])
    return join(folder, name, 'nats-server')
  },
}

async function download(url) {
  const giveUp = new AbortController()
  const abort = () => giveUp.abort(new Error('it took too long'))
  const noAnswer = setTimeout(abort, answerWithinMs)
  const noEnd = setTimeout(abort, finishWithinMs)
  try {
    const response = await fetch(url, { signal: giveUp.signal })
    clearTimeout(noAnswer)
    if (!response.ok) throw new Error(`status ${response.status}`)
    return Buffer.from(await response.arrayBuffer())
  } catch (cause) {
    const reason = cause.cause?.message ?? cause.message
    throw new Error(`${url} cannot be downloaded: ${reason}`, { cause })
  } finally {
    clearTimeout(noAnswer)
    clearTimeout(noEnd)
  }
}
