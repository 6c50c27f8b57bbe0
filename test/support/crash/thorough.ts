/** `SKILLET_CRASH_ALL=1`, as in `npm run test:crash`: every point of dying instead of the most telling ones. */
export const thorough = process.env['SKILLET_CRASH_ALL'] === '1';
