import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'

const tailLines = 25
const running = new Set()
let isInterrupted = false

/** Whether a failure only shows that the user has stopped this process. */
export const wasInterrupted = () => isInterrupted

/** Runs a program to its end and gives back what it printed; fails with the end of its output. */
export function runCommand(command, args, options = {}) {
  if (isInterrupted) return Promise.reject(new Error('interrupted'))
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    const collect = (text) => {
      output += text
    }
    child.stdout.setEncoding('utf8').on('data', collect)
    child.stderr.setEncoding('utf8').on('data', collect)
    running.add(child)
    child.on('error', (error) => {
      running.delete(child)
      reject(error)
    })
    child.on('close', (code, signal) => {
      running.delete(child)
      if (code === 0) return resolve(output)
      const tail = output.trimEnd().split('\n').slice(-tailLines).join('\n')
      reject(new Error(`${command} ended with ${signal ?? `code ${code}`}\n${tail}`.trimEnd()))
    })
  })
}

/**
 * Ends the installers that run, then this process: a signal sent to this process alone would miss them. What they have
 * half done is cleared away in between, by the caller.
 */
export async function endCommandsOn(signal) {
  isInterrupted = true
  const ended = [...running].map((child) => once(child, 'close'))
  for (const child of running) child.kill(signal)
  await Promise.all(ended)
  setImmediate(() => process.exit(128 + constants.signals[signal]))
}
