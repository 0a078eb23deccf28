// What a person sees, in the page: with the packed extension, installed, and the
// server that it brings along.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { palette, startBrowser, startWorkbench, transcriptFrame } from './workbench.mjs';

export async function pageTests({ tools, vsix, workspace, user, env, check, images }) {
  fs.mkdirSync(images, { recursive: true });
  const settings = { ...user, 'agentLsp.profile': 'show', 'agentLsp.approvals': 'edits', 'workbench.colorTheme': 'Default Dark Modern', 'editor.fontSize': 13 };
  const workbench = await startWorkbench({ tools, vsix, workspace, user: settings, env: { ...env, AGENT_E2E_RESULTS: 'page' } });
  const { page, close } = await startBrowser();
  page.setDefaultTimeout(40_000);
  const write = (where, s) => fs.writeFileSync(path.join(workbench.data, where, 'settings.json'), JSON.stringify({ ...JSON.parse(fs.readFileSync(path.join(workbench.data, where, 'settings.json'), 'utf8')), ...s }));
  const disk = () => fs.readFileSync(path.join(workspace, 'main.go'), 'utf8');
  const status = (text) => page.locator('.statusbar-item', { hasText: text }).first().waitFor();
  const toast = (text) => page.locator('.notifications-toasts .notification-list-item', { hasText: text });
  const open = async (name) => {
    const row = page.locator('.explorer-folders-view .monaco-list-row', { hasText: name }).first();
    await row.waitFor({ timeout: 90_000 });
    await row.dblclick();
    await page.locator('.tabs-container .tab', { hasText: name }).first().waitFor();
  };
  /** Presses Tab until the element with the focus in the frame has a name. */
  const tabTo = async (frame, name) => {
    for (let i = 0; i < 60; i++) {
      const at = await frame.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent ?? '');
      if (at === name) return;
      await page.keyboard.press('Tab');
    }
    throw new Error(`Tab never came to ${name}`);
  };

  let frame;
  let broken;
  const test = async (name, act) => {
    if (broken) {
      check(name, 'not run: an earlier step failed');
      return;
    }
    try {
      await act();
      check(name);
    } catch (e) {
      broken = e;
      await page.screenshot({ path: process.env.AGENT_E2E_KEEP ? `${process.env.AGENT_E2E_KEEP}/failed.png` : path.join(workbench.home, 'failed.png') });
      check(name, e);
    }
  };

  await page.goto(workbench.url);
  await test('the file opens', () => open('main.go'));

  await test("the person's palette prompts, and the status bar waits for them", async () => {
    await palette(page, 'Agent: Ask…');
    const input = page.locator('.quick-input-widget input.input').first();
    await page.locator('.quick-input-widget', { hasText: 'Ask the Agent' }).waitFor();
    await input.fill('fix the build');
    await page.keyboard.press('Enter');
    await status('Agent waits for you');
  });

  await test('the problem is shown at its line and in the Problems view', async () => {
    await page.locator('.squiggly-error').first().waitFor();
    assert.equal(await page.locator('.tabs-container .tab.dirty').count(), 0, 'the edit was saved');
    assert.match(disk(), /"😀é", z/);
    await palette(page, 'Problems: Focus on Problems View');
    await page.locator('.markers-panel .monaco-list-row', { hasText: 'undefined: z' }).first().waitFor();
  });

  await test('the question stands in the panel with the whole command', async () => {
    frame = await transcriptFrame(page);
    const question = frame.getByRole('group', { name: /The agent asks/ });
    await question.waitFor();
    assert.match(await question.textContent(), /go version/);
    await toast('go version').first().waitFor();
    await frame.evaluate(() => {
      window.heard = [];
      window.addEventListener('message', (e) => window.heard.push(e.data.type));
    });
  });

  await test('the panel follows the theme; pictures are taken in both', async () => {
    const background = () => frame.evaluate(() => getComputedStyle(document.querySelector('header')).backgroundColor);
    await frame.locator('body.vscode-dark').waitFor();
    const dark = await background();
    await page.screenshot({ path: path.join(images, 'vscode-dark.png') });
    await palette(page, 'Preferences: Toggle between Light/Dark Themes');
    await frame.locator('body.vscode-light').waitFor();
    assert.notEqual(await background(), dark);
    await page.screenshot({ path: path.join(images, 'vscode-light.png') });
  });

  await test('the panel announces itself: roles and names', async () => {
    await frame.getByRole('feed', { name: 'Transcript of the agent' }).waitFor();
    await frame.getByRole('article', { name: 'You asked: fix the build' }).waitFor();
    await frame.getByRole('article', { name: /^Check: go build .* found 1 problem/ }).waitFor();
    await frame.getByRole('textbox', { name: 'Ask the agent' }).waitFor();
    await frame.getByRole('button', { name: 'Cancel the running turn' }).waitFor();
    assert.match(await frame.getByRole('status').textContent(), /waits for you/);
    const unnamed = await frame.evaluate(() => [...document.querySelectorAll('button, a, textarea, article')].filter((e) => !(e.getAttribute('aria-label') || e.textContent.trim())).length);
    assert.equal(unnamed, 0);
    assert.equal(await frame.locator('.call details[open]').count(), 0, 'calls are folded');
  });

  await test('by the keyboard alone: from the palette into the panel, through its blocks, and the question allowed', async () => {
    await palette(page, 'Agent: Show Transcript');
    await frame.waitForFunction(() => document.hasFocus());
    await tabTo(frame, 'You asked: fix the build');
    await page.keyboard.press('PageDown');
    assert.match(await frame.evaluate(() => document.activeElement.getAttribute('aria-label')), /^The agent said: Let me look/);
    await page.keyboard.press('PageDown');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    assert.equal(await frame.locator('.call details[open]').count(), 1, 'Enter unfolds a call');
    await tabTo(frame, 'Allow once');
    await page.keyboard.press('Enter');
    await frame.getByRole('article', { name: 'Turn 1: Done' }).waitFor();
  });

  await test('the answer streamed, and the problem is gone after the fix', async () => {
    await frame.locator('.prose', { hasText: 'The program builds now.' }).waitFor();
    const heard = await frame.evaluate(() => window.heard);
    assert.ok(heard.filter((t) => t === 'delta').length >= 2, `heard ${heard}`);
    assert.equal(await frame.locator('.prose', { hasText: 'The program builds now.' }).count(), 1, 'what streamed is not shown twice');
    await page.locator('.squiggly-error').first().waitFor({ state: 'detached' });
    assert.match(disk(), /"😀é", 1/);
    await page.locator('.statusbar-item', { hasText: 'Agent waits' }).waitFor({ state: 'detached' });
  });

  await test("a finding's link goes to its line, an edit's diff to the diff editor", async () => {
    await frame.getByRole('button', { name: 'Open main.go:5' }).click();
    await status('Ln 5, Col');
    await frame.getByRole('button', { name: 'Open the diff of main.go' }).first().click();
    await page.locator('.diff-editor, .monaco-diff-editor').first().waitFor();
    await page.locator('.tabs-container .tab', { hasText: "agent's edit" }).first().waitFor();
  });

  await test('undo from the palette', async () => {
    await palette(page, 'Agent: Undo Last Turn');
    await frame.getByRole('article', { name: 'Turn 1: Done, undone' }).waitFor();
    assert.match(disk(), /"😀é", y/);
  });

  await test('a question is denied in the notification', async () => {
    await palette(page, 'Notifications: Clear All Notifications');
    await frame.getByRole('textbox', { name: 'Ask the agent' }).fill('touch it');
    await frame.getByRole('textbox', { name: 'Ask the agent' }).press('Enter');
    const t = toast('touch effect').first();
    await t.waitFor();
    await t.getByRole('button', { name: 'Deny' }).click();
    await frame.getByRole('article', { name: 'Turn 2: Done' }).waitFor();
    assert.equal(fs.existsSync(path.join(workspace, 'effect')), false);
    assert.equal(await frame.getByRole('group', { name: /The agent asks/ }).count(), 0);
  });

  await test('hostile text of a model is inert and visible', async () => {
    await frame.getByRole('textbox', { name: 'Ask the agent' }).fill('say something bad');
    await frame.getByRole('textbox', { name: 'Ask the agent' }).press('Enter');
    await frame.getByRole('article', { name: 'Turn 3: Done' }).waitFor();
    const seen = await frame.evaluate(() => ({
      elements: document.querySelectorAll('#feed img, #feed script, #feed iframe, #feed style').length,
      pwned: typeof window.pwned, links: [...document.querySelectorAll('#feed a')].map((a) => a.getAttribute('href')), text: document.querySelector('#feed').textContent,
      inline: (() => {
        const s = document.createElement('script');
        s.textContent = 'window.pwned = 1';
        document.body.append(s);
        return typeof window.pwned;
      })(),
    }));
    assert.equal(seen.elements, 0);
    assert.equal(seen.pwned, 'undefined');
    assert.equal(seen.inline, 'undefined', 'the policy stops a script that got in all the same');
    assert.deepEqual(seen.links, ['https://example.test/', 'https://example.test/track.png'], 'a picture is only a link');
    assert.ok(seen.text.includes('<img src=x onerror="window.pwned=1">'));
    assert.ok(seen.text.includes('[U+202E]gnp.exe[U+202C]') && seen.text.includes('ansi red and'));
    assert.doesNotMatch(seen.text, /[\u001b\u202e]/);
  });

  await test('Cancel in the panel', async () => {
    await frame.getByRole('textbox', { name: 'Ask the agent' }).fill('sleep');
    await frame.getByRole('textbox', { name: 'Ask the agent' }).press('Enter');
    await frame.getByRole('button', { name: 'Allow once' }).click();
    await status('Agent: Run sleep 600');
    await frame.getByRole('button', { name: 'Cancel the running turn' }).click();
    await frame.getByRole('article', { name: 'Turn 4: Cancelled' }).waitFor();
  });

  await test('a window that is loaded again shows the transcript again', async () => {
    await page.reload();
    frame = await transcriptFrame(page);
    await frame.getByRole('article', { name: 'Turn 4: Cancelled' }).waitFor();
    await frame.getByRole('article', { name: 'Turn 1: Done, undone' }).waitFor();
    await frame.getByRole('button', { name: 'Cancel the running turn' }).waitFor({ state: 'hidden' });
  });

  await test('the sessions view lists the session', async () => {
    await page.locator('.activitybar .action-item[aria-label^="Agent"], .activitybar .action-label[aria-label^="Agent"]').first().click();
    await page.locator('.pane-body .monaco-list-row', { hasText: 'fix the build' }).first().waitFor();
  });

  await test('the walkthrough is there', async () => {
    await palette(page, 'Welcome: Open Walkthrough');
    await page.locator('.quick-input-widget input.input').first().fill('Get Started with the Agent');
    await page.locator('.quick-input-list .monaco-list-row', { hasText: 'Get Started with the Agent' }).first().click();
    await page.locator('.gettingStartedContainer', { hasText: 'Ask, with the demonstration' }).first().waitFor();
  });

  await test('a missing binary gives one message, with a way to the setting', async () => {
    await palette(page, 'Notifications: Clear All Notifications');
    write('Machine', { 'agentLsp.server.path': '/nowhere/agent-lsp' });
    await toast('/nowhere/agent-lsp').first().waitFor();
    await palette(page, 'Agent: New Session');
    await page.waitForTimeout(500);
    assert.equal(await toast('/nowhere/agent-lsp').count(), 1);
    assert.equal(await page.locator('.notifications-toasts .notification-list-item').count(), 1);
    await toast('/nowhere/agent-lsp').getByRole('button', { name: 'Open Setting' }).click();
    await page.locator('.settings-editor', { hasText: 'The absolute path of the agent-lsp program' }).first().waitFor();
  });

  await close();
  await workbench.stop();
}
