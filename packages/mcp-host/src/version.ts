/** The product's version, as clients and operators see it; `version.test.ts` compares it with `package.json`. */
export const VERSION = '0.1.0'
