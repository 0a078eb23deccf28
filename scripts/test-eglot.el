;;; test-eglot.el --- Emacs with the lines of docs/other-editors.md  -*- lexical-binding: t -*-

;; Run by test-nvim.sh in batch: a prompt edits an open file, makes a new one and asks
;; a question; undo takes the edits back. AGENT_TEST_DIR holds the project p.

(require 'cl-lib)
(require 'eglot)

(defun test-check (what got want)
  (unless (equal got want)
    (message "FAIL eglot: %s\n  got:  %S\n  want: %S" what got want)
    (kill-emacs 1)))

(defun test-disk (file)
  (and (file-exists-p file)
       (with-temp-buffer (insert-file-contents file) (buffer-string))))

(let* ((dir (file-name-as-directory (getenv "AGENT_TEST_DIR")))
       (script (concat dir "script.yaml"))
       (docs (getenv "AGENT_TEST_DOCS"))
       (inhibit-message nil)
       questions)
  ;; The configuration is read from the documentation itself.
  (with-temp-buffer
    (insert-file-contents docs)
    (search-forward "```elisp\n")
    (let ((start (point)))
      (search-forward "\n```")
      (eval-region start (match-beginning 0))))
  (setf (plist-get (cdr (alist-get '(prog-mode text-mode) eglot-server-programs nil nil #'equal)) :initializationOptions)
        (list :savesEdits t :trusted t :approvals "edits" :profile (list :provider "script" :script script)))
  (setf (car (alist-get '(prog-mode text-mode) eglot-server-programs nil nil #'equal)) (getenv "AGENT_TEST_BINARY"))
  (with-temp-file script
    (insert "version: 1
entries:
  - calls: [{read: {path: a.txt}}]
  - calls: [{patch: {path: a.txt, diff: \"@@\\n one\\n-two\\n+three\\n\"}}, {write: {path: new.txt, text: \"new\\n\"}}]
  - calls: [{exec: {argv: [touch, made]}}]
  - text: Done.
"))
  (advice-add 'completing-read :override
              (lambda (prompt &rest _) (push prompt questions) "Allow once"))
  (find-file (concat dir "p/a.txt"))
  (text-mode)
  (goto-char (point-max))
  (insert "typed\n")
  (apply #'eglot (eglot--guess-contact))
  (let* ((server (eglot-current-server))
         (run (lambda (command argument)
                (jsonrpc-request server :workspace/executeCommand
                                 (list :command command :arguments (vector argument)) :timeout 120)))
         (answer (funcall run "agent.prompt" '(:text "go" :wait t))))
    (test-check "the turn" (plist-get answer :outcome) "complete")
    (test-check "the buffer" (buffer-string) "one\nthree\ntyped\n")
    (test-check "the file" (test-disk (concat dir "p/a.txt")) "one\nthree\ntyped\n")
    (test-check "saved" (buffer-modified-p) nil)
    (test-check "in step with the disk" (verify-visited-file-modtime) t)
    (test-check "the new file" (test-disk (concat dir "p/new.txt")) "new\n")
    (test-check "one question" (length questions) 1)
    (test-check "its command" (file-exists-p (concat dir "p/made")) t)
    (test-check "undone" (plist-get (funcall run "agent.undo" eglot--{}) :turn) 1)
    (test-check "the buffer after undo" (buffer-string) "one\ntwo\ntyped\n")
    (test-check "the new file after undo" (file-exists-p (concat dir "p/new.txt")) nil)
    (eglot-shutdown server))
  (message "ok eglot: a prompt, its edits, its question, and undo")
  (kill-emacs 0))
