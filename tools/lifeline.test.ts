import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'

test.each(['chat', 'audit', 'keys'])(
  '%s ends without an error when the reader of its output has ended',
  (name) => {
    // The command begins after the reader has ended.
    const script = 'exec > >(true); wait $!; exec "$0" "$@"'
    const command = [process.execPath, `${import.meta.dirname}/${name}.ts`, '--help']
    const { status, stderr } = spawnSync('bash', ['-c', script, ...command], { encoding: 'utf8' })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  },
)
