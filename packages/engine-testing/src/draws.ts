import fc from 'fast-check';

/**
 * Loaded before each file of tests: properties are tried on the same draws every time, so that a change is judged by what it changes. To
 * look for more than these show, try others: PROPERTY_SEED=$RANDOM ./scripts/test packages/engine
 */
const SEED = 20_261_128;

// biome-ignore lint/style/noProcessEnv: said by whoever starts the tests
fc.configureGlobal({ seed: Number(process.env.PROPERTY_SEED ?? SEED) });
