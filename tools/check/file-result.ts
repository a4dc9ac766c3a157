import { z } from 'zod'

/** What one test file did in a run. */
export const FileResult = z.object({
  /** Absolute path. */
  path: z.string(),
  project: z.string(),
  passed: z.number(),
  failed: z.number(),
  skipped: z.number(),
  /** A text for each failed test, error of loading and uncaught error. Empty for a file that passed. */
  failures: z.array(z.string()),
})
export type FileResult = z.infer<typeof FileResult>

/** The result of a run, written by `file-reporter.ts` and read by `run-vitest.ts`. */
export const RunResult = z.object({
  files: z.array(FileResult),
  /** Uncaught errors of which the file is not known. */
  strayErrors: z.array(z.string()),
})
export type RunResult = z.infer<typeof RunResult>
