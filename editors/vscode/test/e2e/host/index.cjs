// Runs in the extension host. The suite's tests run one after the other; what became
// of each is appended to a file as a line of JSON.
const fs = require('node:fs');
const path = require('node:path');

exports.run = async () => {
  const tests = require(path.join(__dirname, process.env.AGENT_E2E_SUITE + '.cjs'));
  let failed = 0;
  for (const [name, test] of Object.entries(tests)) {
    if (failed && process.env.AGENT_E2E_BAIL) break;
    const started = Date.now();
    let error;
    try {
      await test();
    } catch (e) {
      error = (e && e.stack) || String(e);
      failed++;
    }
    fs.appendFileSync(process.env.AGENT_E2E_RESULTS, JSON.stringify({ name, error, ms: Date.now() - started }) + '\n');
  }
  if (failed) {
    throw new Error(`${failed} tests failed`);
  }
};
