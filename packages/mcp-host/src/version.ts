/** The product's version, shown to clients and operators. `version.test.ts` compares it with `package.json`. */
export const VERSION = '0.1.0'
