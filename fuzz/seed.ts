// Chooses the seed of a run, once for all test files, and prints it: a run with this seed repeats a failure.

const HIGHEST_SEED = 2 ** 31 - 1

export function setup(): void {
  const { env } = process
  env['FUZZ_SEED'] ??= String(Math.floor(Math.random() * HIGHEST_SEED))
  process.stdout.write(`fuzz: FUZZ_SEED=${env['FUZZ_SEED']}\n`)
}
