// One file, nothing beside it: script and style are put into the page, and its Content-Security-Policy allows exactly these two.
import { createHash } from 'node:crypto';
import { defineConfig, type Plugin } from 'vite';

const hash = (text: string) => `'sha256-${createHash('sha256').update(text, 'utf8').digest('base64')}'`;

function oneFile(): Plugin {
  return {
    name: 'one-file',
    enforce: 'post',
    generateBundle(_, bundle) {
      let script = '';
      let style = '';
      for (const [name, part] of Object.entries(bundle)) {
        if (part.type === 'chunk') script += part.code;
        else if (name.endsWith('.css')) style += part.source.toString();
        else continue;
        delete bundle[name];
      }
      const page = bundle['index.html'];
      if (!page || page.type !== 'asset') throw new Error('no index.html');
      script = script.replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--');
      const policy = [
        "default-src 'none'", `script-src ${hash(script)}`, `style-src ${hash(style)}`, 'img-src data: blob:', "connect-src 'self'",
        "base-uri 'none'", "form-action 'none'",
      ].join('; ');
      const html = page.source.toString()
        .replace(/\s*<script type="module"[^>]*><\/script>/, '')
        .replace(/\s*<link rel="stylesheet"[^>]*>/, '')
        .replace('POLICY', () => policy)
        .replace('<style></style>', () => `<style>${style}</style>`)
        .replace('<script></script>', () => `<script>${script}</script>`);
      page.source = html;
      page.fileName = 'page.html';
    },
  };
}

export default defineConfig({
  plugins: [oneFile()],
  build: {
    target: 'es2022',
    outDir: 'dist',
    assetsInlineLimit: 1 << 20,
    cssCodeSplit: false,
    modulePreload: false,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 4096,
    rollupOptions: { output: { format: 'iife', inlineDynamicImports: true } },
  },
});
