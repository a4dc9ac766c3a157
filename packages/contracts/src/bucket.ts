import type { z } from 'zod'

/** A key-value bucket on the broker: records of one kind by their keys. */
export interface BucketDefinition<T> {
  /** The name: letters, digits and underscores. */
  readonly name: string
  readonly record: z.ZodType<T>
  /** The content for error messages, in the plural: `API keys`. */
  readonly what: string
}

export function defineBucket<T>(
  name: string,
  shape: Omit<BucketDefinition<T>, 'name'>,
): BucketDefinition<T> {
  return { name, ...shape }
}
