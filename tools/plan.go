package tools

import (
	"context"
	"strings"
)

// planName is the name of the tool plan.
const planName = "plan"

// planning is why the mode plan refuses a call.
const planning = "the session is read-only: in the mode plan nothing is written or run; look on, or give your plan with the tool plan"

// planTool is the tool plan, which only the mode plan has.
type planTool struct{ *Executor }

type planArgs struct {
	Text string `json:"text" about:"the plan in Markdown: what you will change, where, why, and how you will check it"`
}

func (planTool) Definition() Definition {
	return Define[planArgs](planName, "Show the person your plan, which they can edit and accept. End your turn after it.", None)
}

func (t planTool) Decide(context.Context, Call) Decision {
	d := Decision{Title: "Give a plan", Effect: None, Verdict: Allow}
	if m := t.Mode(); m != ModePlan {
		d.Verdict, d.Reason = Deny, "the mode is "+string(m)+" now, in which no plan is wanted: do the work"
	}
	return d
}

func (t planTool) Run(_ context.Context, c Call) Outcome {
	text := strings.TrimSpace(Arguments[planArgs](c).Text)
	if text == "" {
		return failf("the plan is empty: say in text what you will change, where and why")
	}
	return Outcome{State: Completed, Plan: text, Text: "the plan is shown to the person, who edits and accepts it or says what else they want: end your turn now"}
}
